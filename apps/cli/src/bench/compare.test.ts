import { expect, it } from "vitest";
import { compare } from "./compare.ts";
import type { BenchSizes, Driver, Side } from "./types.ts";

const sizes: BenchSizes = {
  warmUps: 1,
  lives: 8,
  atOnce: [1, 3],
  together: [2],
  acting: 2,
  resting: 0,
  restMs: 0,
};
const driver: Driver = {
  connect: async () => ({
    goto: async () => undefined,
    tenActions: async () => undefined,
    disconnect: async () => undefined,
  }),
};

function openSide(open: (count: number) => void = () => undefined) {
  const counts = { opened: 0, closed: 0, running: 0, most: 0 };
  const side: Side = {
    async open() {
      open(++counts.opened);
      counts.most = Math.max(counts.most, ++counts.running);
      return {
        cdpUrl: "ws://browser",
        close: async () => {
          counts.closed += 1;
          counts.running -= 1;
        },
      };
    },
  };
  return { side, counts };
}

const parts = { driver, url: "http://site/", sizes, signal: new AbortController().signal, onStep: () => undefined };

it("counts lives of both sides in every scenario, and closes each browser", async () => {
  const ours = openSide();
  const peer = openSide();
  const steps: string[] = [];
  const result = await compare({
    ...parts,
    shoal: ours.side,
    byHand: peer.side,
    onStep: (text) => steps.push(text),
  });
  expect(result.lives.map(({ shoal, by_hand }) => [shoal.at_once, shoal.successes, by_hand?.successes])).toEqual([
    [1, 8, 8],
    [3, 8, 8],
  ]);
  expect(result.together).toMatchObject([{ shoal: { attempts: 2, successes: 2 }, by_hand: { successes: 2 } }]);
  expect(result.actions.shoal.sessions).toBe(2);
  for (const { counts } of [ours, peer]) {
    // One to warm up, twice eight lives, two with actions, two together.
    expect(counts).toMatchObject({ opened: 21, closed: 21, running: 0 });
    expect(counts.most).toBeLessThanOrEqual(3);
  }
  expect(steps).toHaveLength(5);
});

it("counts failures as attempts, with the first error, and goes on", async () => {
  const { counts, side } = openSide((count) => {
    if (count === 3) throw new Error("no room");
  });
  const { lives, together } = await compare({ ...parts, shoal: side, byHand: undefined });
  expect(lives[0]).toMatchObject({ shoal: { attempts: 8, successes: 7, first_error: "no room" }, by_hand: null });
  expect(together[0]?.shoal).not.toHaveProperty("first_error");
  expect(counts.running).toBe(0);
});

it("closes a browser whose page fails", async () => {
  const { counts, side } = openSide();
  const broken: Driver = { connect: () => Promise.reject(new Error("refused")) };
  const only = { ...sizes, acting: 0 };
  const { lives } = await compare({ ...parts, sizes: only, driver: broken, shoal: side, byHand: undefined });
  expect(lives[0]?.shoal).toMatchObject({ successes: 0, first_error: "refused", median_ms: 0 });
  expect(counts.closed).toBe(counts.opened);
});

it("stops when it is aborted", async () => {
  const stop = new AbortController();
  const { counts, side } = openSide((count) => {
    if (count === 4) stop.abort(new Error("enough"));
  });
  await expect(compare({ ...parts, shoal: side, byHand: undefined, signal: stop.signal })).rejects.toThrow("enough");
  expect(counts).toMatchObject({ opened: 4, running: 0 });
});
