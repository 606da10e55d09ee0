"""Stores and fills login data with the newest SDK `kernel`, and checks every answer against the SDK's types."""

from kernel import APIStatusError, Kernel

address = "https://shop.example/login?from=home#form"
form = "<title>Shop</title><input id=user><input id=pass type=password><input id=code>"
fields = [
    {"name": "username", "type": "text", "sensitive": False, "value": "ada"},
    {"name": "password", "type": "password"},
    {"name": "code", "type": "totp", "value": "JBSWY3DPEHPK3PXP"},
]
spec = {"provider": "kernel", "description": "Shop", "fields": fields}
bindings = [{"field": name, "selector": f"#{id}"} for name, id in [("username", "user"), ("password", "pass"), ("code", "code")]]

with Kernel(_strict_response_validation=True, max_retries=0) as client:
    vault = client.vaults.upsert(name="newest")
    assert client.vaults.upsert(name="newest").id == client.vaults.retrieve("newest").id == vault.id
    assert [one.id for one in client.vaults.list(query="newest")] == [vault.id]
    assert client.vaults.retrieve_encryption_key("newest").jwk.crv == "P-256"

    items = client.vaults.items
    item = items.upsert("shop", id_or_name="newest", type="credential", spec=spec)
    assert item.state.status == "pending_collection" and item.action.name == "collect", item
    assert items.upsert("shop", id_or_name="newest", type="credential", spec=spec).id == item.id
    change = {"fields": {"password": {"value": "correct-horse"}}}
    changed = items.update("shop", id_or_name="newest", type="credential", version=item.version, spec=change)
    assert changed.state.status == "ready" and changed.version == 2, changed
    assert changed.state.fields["username"].value == "ada" and changed.state.fields["password"].value is None
    try:
        items.update("shop", id_or_name="newest", type="credential", version=1, spec=change)
        raise AssertionError("a stale version was accepted")
    except APIStatusError as error:
        assert error.status_code == 409, error
    collected = items.perform_operation("shop", id_or_name="newest", type="collect")
    assert collected.type == "credential" and collected.action.url.startswith("http"), collected

    browser = client.browsers.create(vaults=[{"name": "newest"}], timeout_seconds=120)
    assert [one.id for one in browser.vaults] == [vault.id]
    id = browser.session_id
    code = f"""await page.route("**/*", (route) => route.fulfill({{ contentType: "text/html", body: "{form}" }}));
        await page.goto("{address}");"""
    opened = client.browsers.playwright.execute(id, code=code)
    assert opened.success, opened
    fill = {"id_or_name": "newest", "type": "fill", "browser_id": id, "page_url": address}
    filled = items.perform_operation("shop", **fill, fields=bindings)
    assert filled.type == "fill" and filled.status == "completed", filled
    assert [(one.index, one.status) for one in filled.fields] == [(0, "filled"), (1, "filled"), (2, "filled")]
    missing = items.perform_operation("shop", **fill, fields=[*bindings[:1], {"field": "password", "selector": "#other"}])
    assert missing.status == "failed", missing
    assert [one.status for one in missing.fields] == ["not_attempted", "failed"]
    assert missing.fields[1].error_code == "element_not_found"
    code = "return await page.evaluate(() => [...document.querySelectorAll('input')].map((one) => one.value.length));"
    assert client.browsers.playwright.execute(id, code=code).result == [3, 13, 6]
    client.browsers.delete_by_id(id)

    events = items.events("shop", id_or_name="newest")
    assert [one.name for one in events][-2:] == ["filled", "fill_failed"], events
    assert events[-1].browser_id == id
    assert items.events("shop", id_or_name="newest", after=events[-1].id) == []
    assert [one.key for one in items.list("newest")] == ["shop"]
    items.delete("shop", id_or_name="newest")
    client.vaults.delete("newest")
print("all answers fit")
