"""Results as one HTML page that needs no network: views.py is what it shows, templates/ how."""
