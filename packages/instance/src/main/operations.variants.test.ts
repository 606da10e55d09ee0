import { expect, it } from "vitest";
import { describeChromium } from "../testing/chromium.ts";
import { runInstance } from "../testing/run-instance.ts";

describeChromium("the operations of an instance", (chromium) => {
  it("serve the contract's paths without the prefix", async () => {
    await using instance = await runInstance({ chromium });
    // The folders of downloads exist when the browser is ready.
    await instance.ready();
    const written = await instance.call("PUT", "/fs/write_file?path=/home/shoal/a.txt", "hello", {
      "content-type": "application/octet-stream",
    });
    expect(written.status).toBe(201);
    expect((await instance.call("GET", "/fs/read_file?path=/home/shoal/a.txt")).text).toBe("hello");
    const listed = await instance.call("GET", "/fs/list_files?path=/home/shoal");
    expect(JSON.parse(listed.text)).toMatchObject([
      { name: ".incoming-downloads", is_dir: true },
      { name: "Downloads", is_dir: true },
      { name: "a.txt", size_bytes: 5 },
    ]);
    expect(listed.headers["x-request-id"]).toBeTruthy();
    const missing = await instance.call("GET", "/fs/read_file?path=/etc/passwd");
    expect([missing.status, JSON.parse(missing.text)]).toMatchObject([404, { code: "not_found" }]);
    expect((await instance.call("GET", "/fs/nothing")).status).toBe(404);
  });

  it("start one watch when a start is repeated with the same key", async () => {
    await using instance = await runInstance({ chromium });
    const start = (body: object) =>
      instance.call("POST", "/fs/watch", JSON.stringify(body), { "idempotency-key": "k1" });
    const first = await start({ path: "/home/shoal" });
    expect(first.status).toBe(201);
    expect(await start({ path: "/home/shoal" })).toMatchObject({ status: 201, text: first.text });
    expect(await start({ path: "/home" })).toMatchObject({ status: 422 });
  });

  it("count an open event stream as use, and end it with the session", async () => {
    await using instance = await runInstance({ chromium });
    const { text } = await instance.call("POST", "/fs/watch", JSON.stringify({ path: "/home/shoal" }));
    const { watch_id } = JSON.parse(text) as { watch_id: string };
    const followed = await instance.follow(`/fs/watch/${watch_id}/events`);
    await instance.assign({ timeout_seconds: 600 });
    await instance.event((event) => event.type === "activity" && event.idle_since_ms === null);
    await instance.call("PUT", "/fs/write_file?path=/home/shoal/b.txt", "b");
    // After the end of the last call, only the stream holds the idle timer.
    const rest = async () => JSON.parse((await instance.call("POST", "/_instance/rest", "{}")).text) as unknown;
    expect(await rest()).toMatchObject({ busy: expect.any(String) as unknown, expires_in_ms: null });
    await instance.call("POST", "/_instance/stop");
    expect(await followed.text).toContain("/home/shoal/b.txt");
    expect(await instance.exited).toBe(0);
  });
});
