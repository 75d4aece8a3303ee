"""Files on their way into runs: uploaded, read, previewed, committed.

`uploads` and `options` serve requests; `previewing` and `committing` are a worker's long work. Those two hold no
transaction of their own: they read on, and call one short writing step after another.
"""
