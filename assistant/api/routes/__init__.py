"""The routes of `/v1`, one module a resource."""
