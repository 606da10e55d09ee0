import type { StreamFrame } from "@shoal/router";
import type { TelemetryEnvelope } from "@shoal/schemas";
import { expect, it } from "vitest";
import { ofTypes } from "./handlers.ts";

type Frame = StreamFrame<TelemetryEnvelope>;

const envelope = (seq: number, type: string): Frame => ({
  id: String(seq),
  data: { seq, event: { ts: seq, type, category: "network", source: { kind: "cdp" } } as TelemetryEnvelope["event"] },
});

async function* framesOf(...frames: readonly (Frame | (() => void))[]): AsyncGenerator<Frame> {
  for (const frame of frames) {
    if (typeof frame === "function") frame();
    else yield frame;
  }
}

async function idsOf(frames: AsyncIterable<Frame>): Promise<string[]> {
  const ids: string[] = [];
  for await (const frame of frames) ids.push("data" in frame ? frame.id : `${frame.id} ${Object.keys(frame)[1] ?? ""}`);
  return ids;
}

it("sends events of the types, gaps, and the position of the last skipped event at the end", async () => {
  const frames = framesOf(
    envelope(1, "network_request"),
    envelope(2, "network_response"),
    { id: "4", gap: { missed: 2 } },
    envelope(5, "network_idle"),
    envelope(6, "network_request"),
    envelope(7, "network_idle"),
  );
  expect(await idsOf(ofTypes(frames, new Set(["network_response", "network_request"])))).toEqual([
    "1",
    "2",
    "4 gap",
    "6",
    "7 skipped",
  ]);
});

it("sends the position every 15 seconds while it skips events", async () => {
  let nowMs = 0;
  const after = (ms: number) => () => void (nowMs += ms);
  const skipped = (seq: number) => envelope(seq, "network_idle");
  const frames = framesOf(
    skipped(1),
    after(14_000),
    skipped(2),
    after(2_000),
    skipped(3),
    skipped(4),
    after(1),
    skipped(5),
  );
  expect(await idsOf(ofTypes(frames, new Set(["page_load"]), () => nowMs))).toEqual(["3 skipped", "5 skipped"]);
});
