"""Uses the SDK of Steel against the service of STEEL_BASE_URL, and checks every answer against the SDK's types."""

import sys

from steel import Steel

site = sys.argv[1]

with Steel(_strict_response_validation=True, max_retries=0) as client:
    session = client.sessions.create(
        timeout=120_000,
        dimensions={"width": 900, "height": 700},
        session_context={"cookies": [{"name": "user", "value": "ann", "domain": "127.0.0.1", "path": "/"}]},
    )
    assert session.status == "live" and session.dimensions.width == 900
    assert client.sessions.retrieve(session.id).id == session.id
    assert [one.id for one in client.sessions.list(status="live")] == [session.id]
    context = client.sessions.context(session.id)
    assert [(cookie.name, cookie.value) for cookie in context.cookies] == [("user", "ann")], context
    assert len(client.sessions.live_details(session.id).pages) == 1
    assert list(client.sessions.events(session.id)) == []
    client.sessions.computer(session.id, action="type_text", text="hello")
    client.sessions.computer(session.id, action="scroll", coordinates=[400, 300], delta_x=0, delta_y=100)
    assert client.sessions.computer(session.id, action="take_screenshot").base64_image.startswith("iVBOR")
    file = client.sessions.files.upload(session.id, file=("a.txt", b"one"), path="in/a b.txt")
    assert [one.path for one in client.sessions.files.list(session.id).data] == [file.path]
    assert client.sessions.files.download("in/a b.txt", session_id=session.id).read() == b"one"
    client.sessions.files.delete_all(session.id)
    assert client.sessions.release(session.id).success
    assert client.sessions.retrieve(session.id).status == "released"
    client.sessions.create()
    assert client.sessions.release_all().success
    assert client.sessions.list(status="live").sessions == []

    scraped = client.scrape(url=site, format=["html", "markdown"])
    assert scraped.content.markdown.strip() == "# Fish" and scraped.metadata.title == "shop"
    assert client.screenshot(url=site).url.startswith("data:image/")
    assert client.pdf(url=site).url.startswith("data:application/pdf")
print("all answers fit")
