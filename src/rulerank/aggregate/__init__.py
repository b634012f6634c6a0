"""Several rankings into one."""
