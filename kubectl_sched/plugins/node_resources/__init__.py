"""Checks that nodes have room, and scores how full or balanced they would be (plugins/noderesources)."""
