"""A lint for speech that is about to be published: what in a folder could still tell who is who.

``tags`` reads what containers carry besides sound, ``texts`` the words and names, ``relinking`` compares with the
originals; ``audit`` brings all together: findings with a severity, and the metrics ``relink_*``.
"""
