import { expect, it } from "vitest";
import { chooseRecording, refuseSavedReplay } from "./recording-options.ts";

const player = { passes: false, knows: () => false, next: () => undefined, explain: () => "" };
const parts = {
  abilities: { authorities: true, closedNetwork: true },
  recordings: { player: async () => player as never },
  usesSecrets: true,
  signal: new AbortController().signal,
};
const replay = { recording: "rec", on_missing: "fail", clock: "real" } as const;

it("refuses a replay that would save old cookies to a profile, also in an update", async () => {
  const profile = { name: "shop", save_changes: true };
  const refusal = { field: "body.profile.save_changes" };
  await expect(chooseRecording("p", { replay, profile }, parts)).rejects.toMatchObject(refusal);
  expect(() => {
    refuseSavedReplay(profile, replay);
  }).toThrow(expect.objectContaining(refusal));
  const unsaved = { ...profile, save_changes: false };
  expect((await chooseRecording("p", { replay, profile: unsaved }, parts)).player).toBe(player);
  const recording = { network: true };
  expect((await chooseRecording("p", { recording, profile }, parts)).options.network_recording).toBeDefined();
});

it("starts the browser with the seed and the clock of the recording, and refuses a seed without one", async () => {
  const seeded = { ...player, seed: 7, clockOffsetMs: -60_000 };
  const recordings = { player: async () => seeded as never };
  expect((await chooseRecording("p", { replay }, { ...parts, recordings })).options).toEqual({
    ...{ replay, random_seed: 7, clock_offset_ms: -60_000 },
  });
  const recording = { network: true, seed: 9 };
  expect((await chooseRecording("p", { recording }, parts)).options).toMatchObject({ random_seed: 9 });
  await expect(chooseRecording("p", { recording: { seed: 9 } }, parts)).rejects.toMatchObject({
    ...{ status: 400, field: "body.recording.seed" },
  });
});
