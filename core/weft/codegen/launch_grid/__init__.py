"""launch_grid"""
