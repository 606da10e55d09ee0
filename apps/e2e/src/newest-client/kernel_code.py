"""Runs code in sessions by the newest SDK `kernel`, and checks every answer against the SDK's types."""

from kernel import APIStatusError, Kernel


def status_of(call):
    try:
        call()
        return None
    except APIStatusError as error:
        return error.status_code, error.body["code"]


with Kernel(_strict_response_validation=True, max_retries=0) as client:
    browser = client.browsers.create(timeout_seconds=120, name="code")
    first = client.browsers.repl("code", code="let count = 1; console.log(count)", timeout_sec=30)
    assert first.success and not first.content_truncated and not first.repl_terminated, first
    assert first.content[0].text == "1\n" and first.content[0].channel == "stdout", first
    again = client.browsers.repl("code", code="repl.emitImage({ path: await captureScreenshot() }); null.x")
    assert again.repl_id == first.repl_id and not again.success and "cell-2.js:1:" in again.stack, again
    assert again.content[0].mime_type == "image/png", again
    assert client.browsers.repl("code", code="", reset=True).repl_id != first.repl_id
    page = "<title>Tools</title><script>document.modelContext.registerTool({ name: 'add', description: 'Add', inputSchema: { type: 'object' }, execute: ({ a }) => a + 1 })</script>"
    shown = client.browsers.repl("code", code="""
        const { chromium } = await import("playwright-core");
        const page = (await chromium.connectOverCDP(process.env.CDP_ENDPOINT)).contexts()[0].pages()[0];
        await page.route("https://tools.test/", (route) => route.fulfill({ contentType: "text/html", body: PAGE }));
        await gotoUrl("https://tools.test/");
    """.replace("PAGE", repr(page)))
    assert shown.success, shown
    [tool] = client.browsers.webmcp.list_tools("code").tools
    assert tool.tool.name == "add" and tool.source.frame is None and tool.source.tab_id == 1, tool
    result = client.browsers.webmcp.invoke_tool("code", tool_ref=tool.tool_ref, input={"a": 41})
    assert result.status == "completed" and result.output == 42, result
    gone = lambda: client.browsers.webmcp.invoke_tool("code", tool_ref="wmcp_none", input={})
    assert status_of(gone) == (404, "tool_not_found")
    source = """[{ kind: "page", match: { url_patterns: ["https://tools.test/*"] },
        tool: { name: "heading", description: "Title" }, execute: () => document.title }]"""
    [added] = client.browsers.webmcp.custom_tools.add("code", namespace="own", source=source).tools
    assert added.namespace == "own" and added.kind == "page" and added.tool.name == "heading", added
    assert client.browsers.webmcp.custom_tools.list("code").tools == [added]
    [shown] = [one for one in client.browsers.webmcp.list_tools("code").tools if one.source.custom]
    assert shown.source.custom.id == added.id, shown
    titled = client.browsers.webmcp.invoke_tool("code", tool_ref=shown.tool_ref, input={})
    assert titled.status == "completed" and titled.output == "Tools", titled
    again = lambda: client.browsers.webmcp.custom_tools.add("code", namespace="own", source=source)
    assert status_of(again) == (409, "name_taken")
    client.browsers.webmcp.custom_tools.remove(added.id, id_or_name="code")
    assert client.browsers.webmcp.custom_tools.list("code").tools == []
    client.browsers.delete_by_id(browser.session_id)
print("all answers fit")
