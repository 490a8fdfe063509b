"""The files of a device plugin to start from: what ``weft new-device`` fills in and writes.

Words between at signs are replaced: FAMILY, PACKAGE, DISTRIBUTION, MAJOR, MINOR.
"""
