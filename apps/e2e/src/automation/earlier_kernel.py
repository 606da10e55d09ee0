"""Uses an earlier SDK `kernel` with a session of KERNEL_BASE_URL. Arguments: the folder of the SDK, and a site.

These SDKs send operations of a session to its `base_url`, with the token of the session in place of the key.
"""

import base64
import io
import pathlib
import sys
import tempfile
import zipfile

folder, site = sys.argv[1:]
sys.path.insert(0, folder)

import kernel
from kernel import Kernel, NotFoundError

assert pathlib.Path(kernel.__file__).is_relative_to(folder), kernel.__file__


def use(client):
    browser = client.browsers.create(headless=True, timeout_seconds=120, viewport={"width": 1000, "height": 700})
    id = browser.session_id
    fs, process = client.browsers.fs, client.browsers.process
    assert id in [each.session_id for each in client.browsers.list()]
    assert client.browsers.retrieve(id).cdp_ws_url

    fs.create_directory(id, path="/tmp/notes")
    fs.write_file(id, b"hello", path="/tmp/notes/one.txt")
    assert fs.read_file(id, path="/tmp/notes/one.txt").read() == b"hello"
    with tempfile.TemporaryDirectory() as local:
        file = pathlib.Path(local, "two.txt")
        file.write_text("second", encoding="utf-8")
        fs.upload(id, files=[{"dest_path": "/tmp/notes/two.txt", "file": file}])
        fs.upload(
            id,
            files=[
                {"dest_path": "/tmp/notes/three.txt", "file": b"third"},
                {"dest_path": "/tmp/notes/four.txt", "file": ("four.txt", b"fourth")},
            ],
        )
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("inside.txt", "in the archive")
    fs.upload_zip(id, dest_path="/tmp/notes/unpacked", zip_file=archive.getvalue())
    fs.move(id, src_path="/tmp/notes/four.txt", dest_path="/tmp/notes/moved.txt")
    fs.set_file_permissions(id, path="/tmp/notes/moved.txt", mode="0600")
    assert fs.file_info(id, path="/tmp/notes/moved.txt").size_bytes == 6
    names = sorted(each.name for each in fs.list_files(id, path="/tmp/notes"))
    assert names == ["moved.txt", "one.txt", "three.txt", "two.txt", "unpacked"], names
    with zipfile.ZipFile(io.BytesIO(fs.download_dir_zip(id, path="/tmp/notes").read())) as packed:
        assert packed.read("two.txt") == b"second" and packed.read("unpacked/inside.txt") == b"in the archive"
    fs.delete_file(id, path="/tmp/notes/one.txt")

    watch = fs.watch.start(id, path="/tmp/notes")
    fs.write_file(id, b"seen", path="/tmp/notes/seen.txt")
    events = fs.watch.events(watch.watch_id, **session(fs.watch.events, id))
    next(event for event in events if event.name == "seen.txt")
    fs.watch.stop(watch.watch_id, **session(fs.watch.stop, id))
    read_rest(events)
    fs.delete_directory(id, path="/tmp/notes")

    ran = process.exec(id, command="cat", args=["/etc/hostname"])
    assert ran.exit_code == 0 and base64.b64decode(ran.stdout_b64), ran
    started = process.spawn(id, command="cat")
    named = session(process.status, id)
    process.stdin(started.process_id, data_b64=base64.b64encode(b"typed\n").decode(), **named)
    lines = process.stdout_stream(started.process_id, **named)
    line = next(event for event in lines if event.stream == "stdout")
    assert base64.b64decode(line.data_b64) == b"typed\n", line
    assert process.status(started.process_id, **named).state == "running"
    process.kill(started.process_id, signal="TERM", **named)
    read_rest(lines)

    code = f"await page.goto({site!r}); return page.title();"
    shown = client.browsers.playwright.execute(id, code=code)
    assert shown.success and shown.result == "form", shown
    assert client.browsers.computer.capture_screenshot(id).read().startswith(b"\x89PNG")
    client.browsers.computer.move_mouse(id, x=10, y=20)

    log = client.browsers.logs.stream(id, source="supervisor", supervisor_process="chromium", follow=False)
    assert all(event.message is not None for event in log)

    replays = client.browsers.replays
    replay = replays.start(id)
    assert replay.replay_id in [each.replay_id for each in replays.list(id)]
    named = session(replays.stop, id)
    replays.stop(replay.replay_id, **named)
    # Empty (202) until the film is written.
    film = b""
    while film == b"":
        film = replays.download(replay.replay_id, **named).read()
    assert film[4:8] == b"ftyp", film[:12]

    client.browsers.delete_by_id(id)
    try:
        client.browsers.retrieve(id)
        raise AssertionError("the session has ended")
    except NotFoundError:
        pass


def read_rest(stream):
    """Early versions read it anyway when it is collected, and may then wait for a lock of their own."""
    for _ in stream:
        pass


def session(method, id):
    """Later versions rename the argument."""
    return {"id_or_name" if "id_or_name" in method.__annotations__ else "id": id}


with Kernel(max_retries=0) as client:
    use(client)
print("all answers fit")
