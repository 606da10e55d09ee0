import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import type { AssignInstance } from "../../protocol/protocol.ts";
import { attachToPage, cdpClient, runInstance } from "../../testing/run-instance.ts";
import { followTelemetry } from "./testing/follow.ts";

const form = `<!doctype html><title>form</title><input id=field type=password name=q17><input id=code autocomplete=one-time-code>
<button onclick="field.type = 'text'">Show</button>
<script>
  const send = (value) => { console.log("typed", value); fetch("/sent/" + encodeURIComponent(value) + "/" + btoa(value)); };
  for (const input of document.querySelectorAll("input")) input.onchange = input.onkeydown = () => { if (input.value) send(input.value); };
</script>`;

let site: Server;
let port: number;
beforeAll(async () => {
  site = createServer((request, response) => {
    const body = request.url === "/frame" ? `<iframe src="http://127.0.0.1:${String(port)}/"></iframe>` : form;
    response.setHeader("content-type", "text/html").end(request.url?.startsWith("/sent/") === true ? "ok" : body);
  });
  await new Promise<void>((resolve) => site.listen(0, resolve));
  port = (site.address() as AddressInfo).port;
});
afterAll(() => {
  site.close();
  site.closeAllConnections();
});

describeChromium("a field for secrets", (chromium) => {
  it.each<[string, AssignInstance["telemetry"], string]>([
    ["network alone", ["network"], "/"],
    ["console and network, in a frame of another site", ["console", "network"], "/frame"],
  ])("keeps what a client types out of the telemetry: %s", async (_, telemetry, path) => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry, start_url: `http://localhost:${String(port)}${path}` });
    const told = followTelemetry(instance);
    const client = cdpClient(await instance.connect());
    const page = await attachToPage(client);
    await told.wait("network_response", { url: `http://${path === "/" ? "localhost" : "127.0.0.1"}:${String(port)}/` });
    const send = (method: string, params: object) => client.send(method, params, page);
    const press = async (key: string, text?: string) => {
      await send("Input.dispatchKeyEvent", { type: "keyDown", key, ...(text !== undefined && { text }) });
      await send("Input.dispatchKeyEvent", { type: "keyUp", key });
    };
    const tab = () =>
      send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 });
    await send("Page.bringToFront", {});
    await tab();
    // The binding follows a new document.
    await expect
      .poll(async () => {
        await send("Input.insertText", { text: "warm-up" });
        await press("p", "p");
        return told.of("network_request").some(({ data }) => String(data?.url).includes("/sent/***"));
      })
      .toBe(true);
    await send("Input.dispatchKeyEvent", { type: "keyDown", key: "a", commands: ["selectAll"] });
    await send("Input.insertText", { text: "Canary pasted" });
    for (const key of "Canarytyped") await press(key, key);
    await tab();
    await send("Input.insertText", { text: "Canary-code" });
    await tab();
    await press("Enter", "\r");
    await told.wait("network_response", { url: /\/sent\/\*\*\*/ });
    await send("Input.insertText", { text: "end" });
    // The two fields sent their values when they lost the focus.
    await expect
      .poll(() => told.of("network_response").filter(({ data }) => String(data?.url).includes("/sent/")).length)
      .toBeGreaterThan(2);
    const all = JSON.stringify(["network_request", "network_response", "console_log"].flatMap((type) => told.of(type)));
    expect(all).not.toMatch(/canary/i);
    expect(all).not.toContain(btoa("Canary pasted").slice(0, 12));
  });
});
