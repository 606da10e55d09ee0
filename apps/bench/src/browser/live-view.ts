import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium, type CDPSession } from "playwright-core";
import { type Figure, percentile } from "../measuring/figures.ts";
import { cpuMs, descendants } from "../measuring/processes.ts";

const size = { width: 1280, height: 800 };
/**
 * Chromium may skip a frame while another screencast of the same page runs. These clicks are counted, but not waited
 * for.
 */
const patienceMs = 2_000;
/** Changes with every frame while switched on, and at each mouse press. */
const page = `<!doctype html><body style="margin:0"><canvas id=c width=1280 height=800></canvas><script>
const context = c.getContext("2d");
let step = 0;
globalThis.moves = false;
function draw() {
  context.fillStyle = "hsl(" + step * 47 % 360 + " 60% 50%)";
  context.fillRect((step * 13) % 1280, (step * 7) % 800, 200, 200);
  step++;
}
onmousedown = draw;
(function frame() {
  if (moves) draw();
  requestAnimationFrame(frame);
})();
</script>`;

/** A viewer that draws each picture at once. */
class Viewer {
  readonly #socket: WebSocket;
  pictures = 0;
  bytes = 0;
  #next = Promise.withResolvers<undefined>();

  constructor(address: string) {
    this.#socket = new WebSocket(`${address.replace(/^http/, "ws")}/socket`);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === "string") return;
      this.pictures++;
      this.bytes += data.byteLength;
      this.#socket.send('{"type":"drawn"}');
      this.#next.resolve(undefined);
      this.#next = Promise.withResolvers();
    };
  }

  /** Presses and releases the button; resolves with the picture that shows the press. */
  async click(): Promise<void> {
    const seen = this.#next.promise;
    for (const action of ["down", "up"])
      this.#socket.send(
        JSON.stringify({
          type: "mouse",
          action,
          x: 600,
          y: 400,
          button: "left",
          buttons: action === "down" ? 1 : 0,
          clicks: 1,
          modifiers: 0,
        }),
      );
    await seen;
  }

  close(): void {
    this.#socket.close();
  }
}

/** The baseline over the session's CDP. */
async function handOf(cdp: CDPSession): Promise<{ click(): Promise<void> }> {
  let next = Promise.withResolvers<undefined>();
  cdp.on("Page.screencastFrame", ({ sessionId }) => {
    cdp.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined);
    next.resolve(undefined);
    next = Promise.withResolvers();
  });
  await cdp.send("Page.startScreencast", { format: "jpeg", quality: 75, maxWidth: 1920, maxHeight: 1920 });
  return {
    async click() {
      const seen = next.promise;
      for (const type of ["mousePressed", "mouseReleased"] as const)
        cdp
          .send("Input.dispatchMouseEvent", {
            type,
            x: 600,
            y: 400,
            button: "left",
            buttons: type === "mousePressed" ? 1 : 0,
            clickCount: 1,
          })
          .catch(() => undefined);
      await seen;
    },
  };
}

/** Measures a watched page of 1280×800: its CPU, and the time until a click is visible. */
export async function measureLiveView(seconds: number, clicks: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const session = await shoal.browsers.create({ timeout_seconds: 3600, viewport: size });
    const address = session.browser_live_view_url ?? "";
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const shown = browser.contexts()[0]?.pages()[0];
    if (shown === undefined) throw new Error("The session has no page.");
    await shown.setContent(page);

    const take = () => {
      const used = { chromium: 0, node: cpuMs(service.pid) };
      for (const { pid, command } of descendants(service.pid)) {
        if (!command.includes("postgres"))
          used[/chrom|headless/.test(command.split(" ")[0] ?? "") ? "chromium" : "node"] += cpuMs(pid);
      }
      return used;
    };
    const over = async () => {
      const [began, before] = [performance.now(), take()];
      await delay(seconds * 1000);
      const [after, tookMs] = [take(), performance.now() - began];
      return {
        chromium: ((after.chromium - before.chromium) / tookMs) * 100,
        node: ((after.node - before.node) / tookMs) * 100,
      };
    };
    await shown.evaluate("moves = true");
    const plain = await over();
    const viewers = [new Viewer(address)];
    await delay(1000);
    const [pictures, bytes] = [viewers[0]?.pictures ?? 0, viewers[0]?.bytes ?? 0];
    const one = await over();
    const rate = ((viewers[0]?.pictures ?? 0) - pictures) / seconds;
    const kilobytes = ((viewers[0]?.bytes ?? 0) - bytes) / 1000 / seconds;
    for (let more = 0; more < 4; more++) viewers.push(new Viewer(address));
    await delay(1000);
    const five = await over();
    for (const viewer of viewers) viewer.close();

    await shown.evaluate("moves = false");
    const viewer = new Viewer(address);
    const hand = await handOf(await shown.context().newCDPSession(shown));
    await delay(1000);
    const took = { viewer: [] as number[], hand: [] as number[] };
    const unseen = { viewer: 0, hand: 0 };
    for (let click = 0; click < clicks; click++) {
      for (const [samples, one] of [
        [took.viewer, viewer],
        [took.hand, hand],
      ] as const) {
        // Wait for the picture of the other one.
        await delay(100);
        const began = performance.now();
        if ((await Promise.race([one.click(), delay(patienceMs, "never")])) === "never")
          unseen[samples === took.hand ? "hand" : "viewer"]++;
        else samples.push(performance.now() - began);
      }
    }
    viewer.close();
    await browser.close();
    const baseline = { peer: plain.chromium, peerName: "the browser, not watched" };
    return [
      { name: "the browser, watched by one", unit: "% of a core", ours: one.chromium, ...baseline },
      { name: "the browser, watched by five", unit: "% of a core", ours: five.chromium, ...baseline },
      {
        name: "service and instance, one viewer",
        unit: "% of a core",
        ours: one.node,
        peer: plain.node,
        peerName: "not watched",
      },
      {
        name: "service and instance, five viewers",
        unit: "% of a core",
        ours: five.node,
        peer: one.node,
        peerName: "one viewer",
      },
      { name: "pictures that a viewer gets", unit: "/s", ours: rate },
      { name: "sent to a viewer", unit: "kB/s", ours: kilobytes },
      {
        name: "click to picture, p50",
        unit: "ms",
        ours: percentile(took.viewer, 0.5),
        peer: percentile(took.hand, 0.5),
        peerName: "by hand over cdp_ws_url",
      },
      {
        name: "clicks that no picture showed",
        unit: `of ${String(clicks)}`,
        ours: unseen.viewer,
        peer: unseen.hand,
        peerName: "by hand over cdp_ws_url",
      },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
