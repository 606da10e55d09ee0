import { eventuallyPasses } from "@shoal/testkit";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { inflateSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { findChromium } from "../../testing/chromium.ts";
import { commandLineOf, processesWith } from "../../testing/processes.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { openSessionDisplay } from "./session-display.ts";

const full = findChromium("chrome");
const isMissing = full === undefined || !existsSync("/usr/bin/Xvfb");
const reason = isMissing ? " (skipped, needs a full Chromium and Xvfb: apt-get install chromium xvfb)" : "";
const chromium = { kind: "chrome", executable: full ?? "missing chromium" } as const;

const page = `data:text/html,${encodeURIComponent(`<meta charset=utf-8><title>recorder</title><body style="margin:0;background:#0f0;height:3000px">
<textarea id=field style="position:absolute;left:100px;top:100px;width:300px;height:100px"></textarea><script>
globalThis.seen = [];
for (const type of ["mousedown", "mouseup", "dblclick", "contextmenu", "wheel", "keydown"]) addEventListener(type, (event) => seen.push([type, event.clientX ?? event.key, event.clientY ?? event.code, event.isTrusted].join(" ")), true);
</script>`)}`;

interface Answer {
  readonly result: {
    readonly targetInfos: { readonly type: string; readonly targetId: string; readonly title: string }[];
    readonly sessionId: string;
    readonly result: { readonly value: unknown };
  };
}

async function watch(instance: RunningInstance): Promise<(expression: string) => Promise<unknown>> {
  const client = cdpClient(await instance.connect());
  return async (expression) => {
    const { result } = (await client.send("Target.getTargets")) as unknown as Answer;
    const found =
      result.targetInfos.find(({ type, title }) => type === "page" && title === "recorder") ??
      result.targetInfos.find(({ type }) => type === "page");
    const { result: attached } = (await client.send("Target.attachToTarget", {
      targetId: found?.targetId,
      flatten: true,
    })) as unknown as Answer;
    const answer = (await client.send(
      "Runtime.evaluate",
      { expression, returnByValue: true, awaitPromise: true, userGesture: true },
      attached.sessionId,
    )) as unknown as Answer;
    await client.send("Target.detachFromTarget", { sessionId: attached.sessionId });
    return answer.result.result.value;
  };
}

async function opened(instance: RunningInstance): Promise<(expression: string) => Promise<unknown>> {
  const evaluate = await watch(instance);
  await eventuallyPasses(async () => {
    expect(await evaluate("typeof seen")).toBe("object");
  });
  return evaluate;
}

async function does(instance: RunningInstance, action: string, body: object): Promise<string> {
  const { status, text } = await instance.call("POST", `/computer/${action}`, JSON.stringify(body));
  expect([status < 300, text]).toEqual([true, text]);
  return text;
}

const rate =
  "new Promise((done) => { let count = 0; const began = performance.now(); const next = (now) => { count++; if (now - began < 2000) requestAnimationFrame(next); else done((count * 1000) / (now - began)); }; requestAnimationFrame(next); })";

async function colourAt(instance: RunningInstance, x: number, y: number): Promise<number[]> {
  const png = await new Promise<Buffer>((resolve, reject) => {
    void import("node:http").then(({ request }) => {
      const sent = request(
        {
          socketPath: instance.config.listen_path,
          method: "POST",
          path: "/computer/screenshot",
          headers: { "content-type": "application/json" },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response
            .on("data", (chunk: Buffer) => chunks.push(chunk))
            .on("end", () => {
              resolve(Buffer.concat(chunks));
            })
            .on("error", reject);
        },
      );
      sent.on("error", reject);
      sent.end(JSON.stringify({ region: { x, y: 0, width: 1, height: y + 1 } }));
    });
  });
  const length = png.readUInt32BE(33);
  const raw = inflateSync(png.subarray(41, 41 + length));
  const sum = [0, 0, 0];
  for (let row = 0; row <= y; row++)
    for (let channel = 0; channel < 3; channel++)
      sum[channel] = ((sum[channel] ?? 0) + (raw[row * 4 + 1 + channel] ?? 0)) & 0xff;
  return sum;
}

describe.skipIf(isMissing && process.env.SHOAL_REQUIRE_ALL !== "1")(`a browser with a window${reason}`, () => {
  it("fills its screen, accepts input like a person's, and resizes at runtime", async () => {
    await using instance = await runInstance({ chromium });
    expect(
      await instance.assign({
        viewport: { width: 1000, height: 700, refresh_rate: 30 },
        launch: { headless: false },
        start_url: page,
      }),
    ).toBe(200);
    const evaluate = await opened(instance);
    await eventuallyPasses(async () => {
      expect(
        await evaluate("[innerWidth, outerWidth, outerHeight, screenX, screenY, screen.width, screen.height]"),
      ).toEqual([1000, 1000, 700, 0, 0, 1000, 700]);
    });
    const top = 700 - Number(await evaluate("innerHeight"));
    expect(top).toBeGreaterThan(50);
    // A loaded machine draws less often than the rate, but never more often.
    await eventuallyPasses(async () => {
      expect(await evaluate(rate)).toBeLessThan(40);
    });

    const seen = () => evaluate("seen.splice(0)");
    const wait = async (expected: readonly string[]) => {
      const all: unknown[] = [];
      await eventuallyPasses(async () => {
        all.push(...((await seen()) as unknown[]));
        expect(all).toEqual(expected);
      });
    };
    await does(instance, "click_mouse", { x: 500, y: top + 301, num_clicks: 2 });
    await wait([
      "mousedown 500 301 true",
      "mouseup 500 301 true",
      "mousedown 500 301 true",
      "mouseup 500 301 true",
      "dblclick 500 301 true",
    ]);
    await does(instance, "click_mouse", { x: 110, y: top + 110 });
    await wait(["mousedown 110 110 true", "mouseup 110 110 true"]);
    await does(instance, "type", { text: "Grüße €😀 日本語" });
    await does(instance, "press_key", { keys: ["Return", "Shift+a", "KP_7"] });
    await eventuallyPasses(async () => {
      expect(await evaluate("field.value")).toBe("Grüße €😀 日本語\nA7");
    });
    expect((await seen()) as unknown[]).toEqual(
      expect.arrayContaining([
        "keydown ü  true",
        "keydown G KeyG true",
        "keydown A KeyA true",
        "keydown 7 Numpad7 true",
      ]),
    );
    await does(instance, "press_key", { keys: ["Ctrl+a", "Ctrl+c"] });
    await eventuallyPasses(async () => {
      expect(JSON.parse(await does(instance, "clipboard/read", {}))).toEqual({ text: "Grüße €😀 日本語\nA7" });
    });
    await does(instance, "clipboard/write", { text: "from outside" });
    await does(instance, "press_key", { keys: ["Ctrl+v"] });
    await eventuallyPasses(async () => {
      expect(await evaluate("field.value")).toBe("from outside");
    });
    await does(instance, "scroll", { x: 600, y: top + 300, delta_y: 2 });
    await eventuallyPasses(async () => {
      expect(await evaluate("scrollY")).toBe(240);
    });

    const answer = evaluate("confirm('Sure?')");
    await eventuallyPasses(async () => {
      expect(await colourAt(instance, 900, 600)).not.toEqual([0, 255, 0]);
    });
    await does(instance, "press_key", { keys: ["Return"] });
    expect(await answer).toBe(true);
    await eventuallyPasses(async () => {
      expect(await colourAt(instance, 900, 600)).toEqual([0, 255, 0]);
    });

    const refused = await instance.call("POST", "/computer/click_mouse", JSON.stringify({ x: 1000, y: 5 }));
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      400,
      { message: expect.stringContaining("the screen, which is 1000 × 700 pixels") as unknown },
    ]);

    const change = (viewport: object) =>
      instance.call("POST", "/_instance/viewport", JSON.stringify({ viewport, force: false }));
    expect((await change({ width: 1400, height: 900, refresh_rate: 10 })).status).toBe(200);
    await eventuallyPasses(async () => {
      expect(
        await evaluate(
          "[innerWidth, outerHeight, screen.width, screen.height, matchMedia('(device-width: 1400px)').matches]",
        ),
      ).toEqual([1400, 900, 1400, 900, true]);
    });
    await eventuallyPasses(async () => {
      expect(await evaluate(rate)).toBeLessThan(14);
    });
    const tooLarge = await change({ width: 2561, height: 900 });
    expect([tooLarge.status, tooLarge.text]).toEqual([400, expect.stringContaining("body.viewport.width")]);

    await evaluate("void open('about:blank', '', 'width=400,height=300')");
    await eventuallyPasses(async () => {
      expect(await evaluate("document.hasFocus()")).toBe(false);
    });
  });

  it("shows only the page in kiosk mode, and returns to its screen after a crash", async () => {
    await using instance = await runInstance({ chromium });
    expect(
      await instance.assign({
        viewport: { width: 800, height: 600 },
        launch: { headless: false, kiosk: true },
        start_url: page,
      }),
    ).toBe(200);
    const evaluate = await opened(instance);
    await eventuallyPasses(async () => {
      expect(await evaluate("[innerWidth, innerHeight]")).toEqual([800, 600]);
    });
    await eventuallyPasses(async () => {
      expect(await colourAt(instance, 700, 5)).toEqual([0, 255, 0]);
    });

    await (
      await watch(instance)
    )("0");
    const client = cdpClient(await instance.connect());
    void client.send("Browser.crash");
    await instance.event(({ type }) => type === "browser_restarted");
    await eventuallyPasses(async () => {
      expect(await (await watch(instance))("[innerWidth, innerHeight]")).toEqual([800, 600]);
    });
    await does(instance, "move_mouse", { x: 10, y: 10 });
    const shown = await instance.call(
      "POST",
      "/process/exec",
      JSON.stringify({ command: "sh", args: ["-c", "test -r $XAUTHORITY && echo $DISPLAY"] }),
    );
    const { stdout_b64 } = JSON.parse(shown.text) as { stdout_b64: string };
    expect(Buffer.from(stdout_b64, "base64").toString()).toMatch(/^:\d+\n$/);
  });

  it("ends with its screen and removes its files", async () => {
    await using instance = await runInstance({ chromium });
    expect(await instance.assign({ viewport: { width: 800, height: 600 }, launch: { headless: false } })).toBe(200);
    const server = processesWith(instance.config.session_dir).find((pid) => /^\S*Xvfb[\0 ]/.test(commandLineOf(pid)));
    if (server === undefined) throw new Error("No screen runs.");
    process.kill(server, "SIGKILL");
    expect(await instance.event(({ type }) => type === "ending")).toMatchObject({ reason: "browser_crashed" });
    expect(await instance.exited).toBe(0);
    await eventuallyPasses(() => {
      expect(processesWith(instance.config.session_dir)).toEqual([]);
    });
  });
});

it("rejects a window when Xvfb is missing or the screen would be too large", async () => {
  vi.stubEnv("PATH", "/nonexistent");
  const options = { sessionDir: tmpdir(), onLine: () => undefined };
  expect(await openSessionDisplay({ ...options, viewport: { width: 800, height: 600 } })).toMatchObject({
    status: 422,
    code: "no_display",
    message: expect.stringContaining("apt-get install xvfb") as unknown,
  });
  expect(await openSessionDisplay({ ...options, viewport: { width: 800, height: 7681 } })).toMatchObject({
    status: 400,
    message: expect.stringContaining("body.viewport.height") as unknown,
  });
  vi.unstubAllEnvs();
});
