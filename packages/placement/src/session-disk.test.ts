import { openPlacement, runInside } from "./testing/placements.ts";
import { describeWith } from "./testing/requirements.ts";
import { text } from "node:stream/consumers";
import { expect, it, vi } from "vitest";

vi.setConfig({ testTimeout: 60_000 });

describeWith(["linux", "chromium", "bubblewrap"], "files of a box in memory", () => {
  it("have the room that they were given, and no more", async () => {
    const { placement } = await openPlacement({ kind: "sandbox", standIn: "fine", sessionDiskBytes: 20_000_000 });
    const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 60 });
    const { stdout, stderr } = await runInside(
      instance,
      "id -u; echo kept > ~/file; head -c 30000000 /dev/zero > /tmp/large; echo $?; rm /tmp/large; cat ~/file; ls ~; (: > /z) 2>&1 | grep -c denied; (: > /etc/z) 2>&1 | grep -c Read-only",
    );
    expect([stdout.split("\n"), stderr]).toEqual([
      ["1000", "1", "kept", "Downloads", "file", "1", "1", ""],
      expect.stringContaining("No space left on device"),
    ]);
    await instance.stop();
  });

  it("are enough for a browser", async () => {
    const { placement } = await openPlacement({ kind: "sandbox", sessionDiskBytes: 200 * 2 ** 20 });
    const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 60 });
    const answer = await instance.request(
      { method: "POST", path: "/playwright/execute", headers: { "content-type": "application/json" } },
      JSON.stringify({ code: 'await page.goto("data:text/html,<title>in memory</title>"); return page.title();' }),
    );
    expect(JSON.parse(await text(answer))).toMatchObject({ success: true, result: "in memory" });
    const written = await instance.request({ method: "PUT", path: "/fs/write_file?path=/home/shoal/file" }, "text");
    expect([written.statusCode, await text(written)]).toEqual([201, ""]);
  });
});
