"""workgroups"""
