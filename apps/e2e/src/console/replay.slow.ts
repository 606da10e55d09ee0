import { eventually } from "@shoal/testkit";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { phone, usePerson, violationsOf, widthOf } from "./open-console.ts";

declare global {
  // Of the page.
  var flicker: { readonly pictures: number; readonly blank: number; readonly jumps: number };
}

const on = { enabled: true };
const test = useService();
const person = usePerson(test);
let id: string;
let replayId: string;
let sharedUrl: string;

beforeAll(async () => {
  const { browsers } = test.shoal;
  ({ session_id: id } = await browsers.create({
    name: "filmed",
    viewport: { width: 640, height: 400 },
    telemetry: { browser: { console: on, network: on, page: on, control: on, connection: on } },
  }));
  const replay = await browsers.replays.start(id, { framerate: 10 });
  replayId = replay.replay_id;
  await browsers.playwright.execute(id, {
    code: `await page.goto("data:text/html,<title>Shop</title><h1>Orders</h1>");
await page.waitForTimeout(2500);
await page.evaluate(() => { console.log("stock", 42); document.body.style.background = "lime"; });
await page.waitForTimeout(1500);
await page.evaluate(() => console.error("payment failed"));
await page.waitForTimeout(9000);
await page.evaluate(() => console.log("after a pause"));
await page.waitForTimeout(1500);`,
  });
  await browsers.replays.mark(id, replayId, { title: "Payment" });
});

const path = () => `sessions/${id}/replays/${replayId}`;

const film = (page: Page) =>
  page.evaluate(() => {
    const video = document.querySelector("video");
    return {
      at: video?.currentTime ?? -1,
      length: Number.isFinite(video?.duration) ? (video?.duration ?? 0) : 0,
      isPlaying: video?.paused === false,
      // It may be at its end before the first look.
      hasPlayed: (video?.played.length ?? 0) > 0,
      rate: video?.playbackRate,
      isMuted: video?.muted,
    };
  });

/** Counts drawn pictures of the page without a picture of the film, and with the start of the timeline. */
const watchForFlicker = (page: Page) =>
  page.evaluate(() => {
    const flicker = { pictures: 0, blank: 0, jumps: 0 };
    globalThis.flicker = flicker;
    const look = () => {
      const video = document.querySelector("video");
      const last = document.querySelector<HTMLCanvasElement>("video + canvas");
      if (video === null || last === null) return;
      flicker.pictures += 1;
      // A seek keeps the picture; a new source has none.
      if (last.hidden && video.readyState === HTMLMediaElement.HAVE_NOTHING) flicker.blank += 1;
      if (document.querySelector<HTMLInputElement>("input[type=range]")?.value === "0") flicker.jumps += 1;
      requestAnimationFrame(look);
    };
    look();
  });

it("plays a running recording while it grows, and the whole film when it has ended", async () => {
  const { page, problems } = await person.openSignedIn(path());
  await page.getByText("Choose an earlier moment to see the film so far.").waitFor();
  await page.frameLocator("iframe").getByText("view only").waitFor();
  await page.getByRole("button", { name: /payment failed/ }).waitFor();
  await test.shoal.browsers.playwright.execute(id, { code: `await page.evaluate(() => console.log("one more line"))` });
  await page.getByRole("button", { name: /one more line/ }).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  const replays = await test.shoal.browsers.replays.list(id);
  sharedUrl = replays[0]?.replay_view_url ?? "";
  const position = page.getByRole("slider", { name: "Position in the film" });
  await position.fill("1.5");
  await eventually("the film so far is known", async () => (await film(page)).length > 4);
  await expect.poll(async () => (await film(page)).at).toBeCloseTo(1.5, 1);
  const { length } = await film(page);
  await watchForFlicker(page);
  // The timeline goes on, and a later moment loads a longer part.
  await expect.poll(async () => Number(await position.getAttribute("max"))).toBeGreaterThan(length + 3);
  await page.keyboard.press("9");
  await position.focus();
  await page.keyboard.press("End");
  await eventually("a longer part is loaded", async () => (await film(page)).length > length + 1);
  const { length: longer } = await film(page);
  await eventually("it follows the recording", async () => (await film(page)).length > longer + 1);
  expect(await page.evaluate(() => globalThis.flicker)).toEqual({
    pictures: expect.any(Number) as number,
    blank: 0,
    jumps: 0,
  });
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Back to the live view" }).click();
  await page.frameLocator("iframe").getByText("view only").waitFor();
  await page.getByRole("button", { name: /stock 42/ }).click();
  await eventually("the film so far is known", async () => (await film(page)).at > 0);
  await page.keyboard.press("1");
  const loaded = page.waitForRequest((request) => request.url().endsWith("/film"));
  await test.shoal.browsers.delete(id);
  await loaded;
  await page.getByRole("button", { name: "Back to the live view" }).waitFor({ state: "hidden" });
  // It keeps the tenth of more than ten seconds, which the key chose.
  await eventually("the whole film goes on", async () => (await film(page)).at > 0.5);
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
  await page.close();
});

it("moves the lists with the film, and the film with the lists", async () => {
  const { page, problems } = await person.openSignedIn(path());
  await eventually("the film is known", async () => (await film(page)).length > 4);
  expect(await page.title()).toMatch(/^filmed, .+ · Shoal$/);
  const present = page.locator('[aria-current="true"]');
  await page.getByRole("button", { name: /stock 42/ }).click();
  await eventually("it plays from the line", async () => {
    const { at, hasPlayed } = await film(page);
    return hasPlayed && at > 1.5;
  });
  await page.keyboard.press("k");
  await eventually("it pauses", async () => !(await film(page)).isPlaying);
  await page.getByRole("button", { name: /^Console/ }).click();
  await page.getByRole("slider", { name: "Position in the film" }).focus();
  await page.keyboard.press("End");
  await expect.poll(() => present.textContent()).toContain("one more line");
  await page.keyboard.press("Home");
  await expect.poll(() => present.count()).toBe(0);
  const saidAt = Number(((await page.getByRole("button", { name: /stock 42/ }).textContent()) ?? "").slice(3, 5));
  await page.getByRole("slider", { name: "Position in the film" }).fill(String(saidAt + 1));
  await expect.poll(() => present.textContent()).toContain("stock 42");
  await page.getByRole("button", { name: /^Chapters/ }).click();
  expect(await page.getByRole("list", { name: "Chapters" }).getByRole("button").allTextContents()).toEqual([
    expect.stringContaining("Payment"),
  ]);
  await page.getByRole("button", { name: /^Actions/ }).click();
  await page.getByRole("button", { name: /Opened data:text\/html/ }).waitFor();
  await page
    .getByRole("button", { name: /browsers\.playwright\.execute/ })
    .first()
    .waitFor();
  const markers = await page.evaluate(() =>
    [...document.querySelectorAll("[data-marker]")].map((marker) => marker.getAttribute("data-marker")),
  );
  expect(new Set(markers)).toEqual(new Set(["action", "chapter", "error", "navigation"]));
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it("has the keyboard controls of video players", async () => {
  const { page } = await person.openSignedIn(`${path()}?t=1.5`);
  await eventually("the film is known", async () => (await film(page)).length > 4);
  await expect.poll(async () => (await film(page)).at).toBeCloseTo(1.5, 1);
  const { length } = await film(page);
  const press = async (key: string) => {
    await page.keyboard.press(key);
    return film(page);
  };
  expect((await press("5")).at).toBeCloseTo(length / 2, 1);
  expect((await press("1")).at).toBeCloseTo(length / 10, 1);
  // `1` opens the home page elsewhere.
  expect(page.url()).toContain("/replays/");
  expect((await press(".")).at).toBeCloseTo(length / 10 + 0.1, 2);
  expect((await press(",")).at).toBeCloseTo(length / 10, 2);
  expect((await press("ArrowRight")).at).toBeCloseTo(Math.min(length, length / 10 + 5), 1);
  // Films begin with their first picture, some hundredths of a second after zero.
  expect((await press("j")).at).toBeLessThan(0.1);
  // Films start silent.
  expect((await press("m")).isMuted).toBe(false);
  await page.keyboard.press("Shift+>");
  expect((await film(page)).rate).toBe(1.5);
  await page.getByLabel("Speed").selectOption("4");
  expect((await film(page)).rate).toBe(4);
  await page.locator("#page-title").focus();
  await page.keyboard.press("Space");
  await eventually("it plays", async () => (await film(page)).at > 0);
  await page.keyboard.press("f");
  await eventually("it fills the screen", () => page.evaluate(() => document.fullscreenElement !== null));
  await page.keyboard.press("f");
  await eventually("it is small again", () => page.evaluate(() => document.fullscreenElement === null));
  await page.close();
});

it("skips time without events, marks it, and plays it after a press of the switch", async () => {
  const { page } = await person.openSignedIn(`${path()}?t=0`);
  await eventually("the film is known", async () => (await film(page)).length > 4);
  const skips = page.getByRole("button", { name: /^Skip idle time/ });
  await expect.poll(() => skips.getAttribute("aria-pressed")).toBe("true");
  const paused = page.locator("[data-skipped]").first();
  await paused.waitFor();
  const { length } = await film(page);
  const [left = 0, width = 0] = await paused.evaluate(({ style }) => [style.left, style.width].map(Number.parseFloat));
  const [from, to] = [(left / 100) * length, ((left + width) / 100) * length];
  /** Plays from just before the part, so slowly that its end is far. Counts the jumps. */
  const playInto = () =>
    page.evaluate((seconds) => {
      const video = document.querySelector("video");
      if (video === null) throw new Error("The film is missing.");
      video.playbackRate = 0.0625;
      video.currentTime = seconds;
      video.addEventListener(
        "seeked",
        () => {
          video.addEventListener("seeking", () => (video.dataset.jumps = "yes"));
          void video.play();
        },
        { once: true },
      );
    }, from - 0.05);
  await playInto();
  await eventually("it is after the part", async () => (await film(page)).at >= to - 0.01);
  await page.keyboard.press("k");
  await eventually("it pauses", async () => !(await film(page)).isPlaying);
  await page.keyboard.press("i");
  await expect.poll(() => skips.getAttribute("aria-pressed")).toBe("false");
  await expect.poll(() => page.locator("[data-skipped]").count()).toBe(0);
  await page.reload();
  await expect.poll(() => skips.getAttribute("aria-pressed")).toBe("false");
  await eventually("the film is known", async () => (await film(page)).length > 4);
  await playInto();
  await eventually("it plays the part", async () => (await film(page)).at > from + 0.1);
  expect(await page.locator("video").getAttribute("data-jumps")).toBeNull();
  await page.close();
});

it("plays without signing in, at a moment, without telemetry and without calls of the API", async () => {
  const { page } = await person.open();
  // The console's own requests come before.
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(`${sharedUrl}?t=0:02`);
  await eventually("the film is known", async () => (await film(page)).length > 4);
  await expect.poll(async () => (await film(page)).at).toBeCloseTo(2, 1);
  await page.getByRole("list", { name: "Chapters" }).getByRole("button").waitFor();
  expect(await page.getByText("stock 42").count()).toBe(0);
  expect(
    requested.filter((path) => !path.startsWith("/console/assets/") && !path.startsWith("/browser/replay/")),
  ).toEqual(expect.not.arrayContaining([expect.stringMatching(/browsers|session/)]));
  await page.getByRole("link", { name: "Open in the console" }).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  const invalid = await page.goto(sharedUrl.replace(/.$/, "!"));
  expect(invalid?.status()).toBe(401);
  await page.getByRole("heading", { name: "This link is invalid or has expired" }).waitFor();
  await page.close();
});

it.each(["light", "dark"] as const)("fits on a phone in %s colors", async (colorScheme) => {
  const { page, problems } = await person.openSignedIn(path(), { colorScheme, viewport: phone });
  await eventually("the film is known", async () => (await film(page)).length > 4);
  await page.getByRole("button", { name: /stock 42/ }).waitFor();
  await expect.poll(() => widthOf(page)).toBe(phone.width);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});
