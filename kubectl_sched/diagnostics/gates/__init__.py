"""Gates and queues: the controller that holds a pod back, what it says of that, and what it would set on the pod."""
