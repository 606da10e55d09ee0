import { eventuallyPasses } from "@shoal/testkit";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { buffer } from "node:stream/consumers";
import { findChromium } from "../../testing/chromium.ts";
import { cdpClient, type RunningInstance, runInstance } from "../../testing/run-instance.ts";

let site: Server;
let url: string;
beforeAll(async () => {
  site = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<title>page</title>"),
  );
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

function zip(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content), name);
  archive.end();
  return buffer(archive.outputStream);
}

const marking = (mark: string, folder = "") =>
  zip({
    [`${folder}manifest.json`]: JSON.stringify({
      manifest_version: 3,
      name: mark,
      version: "1.0",
      content_scripts: [{ matches: ["<all_urls>"], js: ["mark.js"], run_at: "document_start" }],
    }),
    [`${folder}mark.js`]: `document.documentElement.setAttribute("data-${mark}", "yes");`,
  });

async function upload(
  instance: RunningInstance,
  extensions: readonly { readonly name: string; readonly archive: Buffer }[],
): Promise<{ status: number; text: string }> {
  const form = new FormData();
  for (const { name, archive } of extensions) {
    form.append("extensions[][name]", name);
    form.append(
      "extensions[][zip_file]",
      new Blob([new Uint8Array(archive)], { type: "application/zip" }),
      `${name}.zip`,
    );
  }
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        socketPath: instance.config.listen_path,
        method: "POST",
        path: "/extensions",
        headers: { "content-type": encoded.headers.get("content-type") ?? "" },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, text });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

async function marksOf(instance: RunningInstance): Promise<string[]> {
  const client = cdpClient(await instance.connect());
  const { result } = (await client.send("Target.createTarget", { url })) as { result: { targetId: string } };
  const attached = (await client.send("Target.attachToTarget", { targetId: result.targetId, flatten: true })) as {
    result: { sessionId: string };
  };
  let marks = "";
  await eventuallyPasses(async () => {
    const answer = (await client.send(
      "Runtime.evaluate",
      {
        expression: "document.title === 'page' ? Object.keys(document.documentElement.dataset).sort().join() : null",
        returnByValue: true,
      },
      attached.result.sessionId,
    )) as { result: { result: { value: string | null } } };
    expect(answer.result.result.value).not.toBeNull();
    marks = String(answer.result.result.value);
  });
  await client.send("Target.closeTarget", { targetId: result.targetId });
  return marks.split(",").filter((mark) => mark !== "");
}

const shell = findChromium("headless_shell");
const full = findChromium("chrome");
const isMissing = shell === undefined || full === undefined;
const both = {
  kind: "headless_shell",
  executable: shell ?? "missing",
  full: { executable: full ?? "missing", inner_sandbox: process.getuid?.() !== 0 },
} as const;

describe.skipIf(isMissing && process.env.SHOAL_REQUIRE_ALL !== "1")(
  `extensions of a session${isMissing ? " (skipped, needs a headless shell and a full Chromium)" : ""}`,
  () => {
    it("loads into a full Chromium without disturbing its clients, and again after a crash", async () => {
      await using instance = await runInstance({ chromium: { kind: "chrome", executable: both.full.executable } });
      const client = cdpClient(await instance.connect());
      expect(
        await upload(instance, [
          { name: "first", archive: await marking("one") },
          { name: "second", archive: await marking("two", "folder/") },
        ]),
      ).toEqual({ status: 201, text: "" });
      expect(await marksOf(instance)).toEqual(["one", "two"]);
      expect((await upload(instance, [{ name: "first", archive: await marking("three") }])).status).toBe(201);
      expect(await marksOf(instance)).toEqual(["three", "two"]);
      expect(await client.send("Browser.getVersion")).toHaveProperty("result");
      expect(
        (await instance.call("GET", `/fs/list_files?path=${encodeURIComponent("/home/shoal/extensions")}`)).text,
      ).toMatch(/"first".*"second"/s);

      void client.send("Browser.crash");
      expect(await client.closed).toMatchObject({ code: 1012 });
      await eventuallyPasses(async () => {
        expect(await marksOf(instance)).toEqual(["three", "two"]);
      });
    });

    it("restarts a headless shell as a full Chromium", async () => {
      await using instance = await runInstance({ chromium: both });
      const client = cdpClient(await instance.connect());
      expect((await upload(instance, [{ name: "first", archive: await marking("one") }])).status).toBe(201);
      expect(await client.closed).toEqual({
        code: 1012,
        reason: "the browser is being started in another way: reconnect",
      });
      expect(await marksOf(instance)).toEqual(["one"]);
      expect(instance.events.some(({ type }) => type === "browser_restarted")).toBe(false);
    });

    it("rejects archives that are not extensions, and removes their files", async () => {
      await using instance = await runInstance({ chromium: both });
      const good = await marking("one");
      const outside = Buffer.from(
        (await zip({ "manifest.json": "{}", "aa/escape": "x" }))
          .toString("latin1")
          .replaceAll("aa/escape", "../escape"),
        "latin1",
      );
      const cases: readonly (readonly [Buffer, RegExp])[] = [
        [Buffer.from("no archive"), /^body\.extensions\[1\]\[zip_file\]: not a ZIP archive/],
        [outside, /escape/],
        [await zip({ "a/x": "", "b/manifest.json": "{}" }), /no manifest\.json at its top/],
        [await zip({ "manifest.json": "{ no" }), /its manifest\.json is not JSON/],
      ];
      for (const [archive, message] of cases) {
        const { status, text } = await upload(instance, [
          { name: "good", archive: good },
          { name: "bad", archive },
        ]);
        expect([status, (JSON.parse(text) as { message: string }).message]).toEqual([
          400,
          expect.stringMatching(message),
        ]);
      }
      expect((await upload(instance, [{ name: "..", archive: good }])).text).toContain(
        "body.extensions[0][name]: expected 1 to 255 letters",
      );
      expect(
        (
          await upload(instance, [
            { name: "same", archive: good },
            { name: "same", archive: good },
          ])
        ).text,
      ).toContain("another extension of this request has the name same");
      expect((await upload(instance, [])).status).toBe(400);
      const refused = await upload(instance, [
        {
          name: "old",
          archive: await zip({ "manifest.json": JSON.stringify({ manifest_version: 1, name: "old", version: "1" }) }),
        },
      ]);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Chromium does not load it")]);
      expect(await marksOf(instance)).toEqual([]);
    });

    it("rejects extensions when only a headless shell is installed", async () => {
      await using instance = await runInstance({ chromium: { kind: "headless_shell", executable: both.executable } });
      expect(await upload(instance, [{ name: "first", archive: await marking("one") }])).toEqual({
        status: 400,
        text: expect.stringContaining("apt-get install chromium") as unknown,
      });
    });
  },
);
