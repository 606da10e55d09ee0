"""Uses Browserbase's SDK against the service of BROWSERBASE_BASE_URL, and checks every answer against the SDK's types."""

import asyncio
import io
import zipfile

from browserbase import APIStatusError, AsyncBrowserbase, Browserbase

with Browserbase(_strict_response_validation=True, max_retries=0) as client:
    session = client.sessions.create(keep_alive=True, api_timeout=120, user_metadata={"team": {"name": "docs"}})
    assert session.status == "RUNNING" and session.connect_url.startswith("ws")
    found = client.sessions.list(q="user_metadata['team']['name']:'docs'", status="RUNNING")
    assert [each.id for each in found] == [session.id]
    assert client.sessions.retrieve(session.id).keep_alive is True
    assert client.sessions.debug(session.id).pages[0].url == "about:blank"
    assert client.sessions.logs.list(session.id) == []
    assert client.sessions.recording.downloads.list(session.id).downloads == []
    upload = client.sessions.uploads.create(session.id, file=("letter.txt", b"hello"))
    assert upload.message == "Uploaded to /tmp/.uploads/letter.txt."
    archive = client.sessions.downloads.list(session.id).read()
    assert zipfile.ZipFile(io.BytesIO(archive)).namelist() == []
    for _ in range(2):
        assert client.sessions.update(session.id, status="REQUEST_RELEASE").status == "COMPLETED"
    context = client.contexts.create()
    assert client.contexts.retrieve(context.id).id == context.id
    client.contexts.update(context.id)
    client.contexts.delete(context.id)
    [project] = client.projects.list()
    assert client.projects.retrieve(project.id).name == project.name
    client.projects.usage(project.id)
    try:
        client.contexts.retrieve(context.id)
        raise SystemExit("The context is still there.")
    except APIStatusError as error:
        assert error.status_code == 404 and error.body["statusCode"] == 404


async def sessions() -> str:
    async with AsyncBrowserbase(_strict_response_validation=True) as client:
        created = await client.sessions.create(region="eu-central-1")
        return (await client.sessions.update(created.id, status="REQUEST_RELEASE")).status


assert asyncio.run(sessions()) == "COMPLETED"
print("all answers fit")
