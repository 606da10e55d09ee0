import { PlacementError } from "@shoal/placement";
import { pino } from "pino";
import { expect, it } from "vitest";
import { explainStart } from "./explain-start.ts";

const log = pino({ level: "silent" });
const queued = "Other sessions are being copied. Try again in 15 seconds.";

it.each([
  ["a queue", { retryAfterSeconds: 15 }, 15, /seconds\.$/],
  ["a full cluster", {}, 30, /can enlarge the cluster\.$/],
])("tells a caller of %s when to try again", (_what, options, retryAfterSeconds, end) => {
  const explained = explainStart(new PlacementError("no_capacity", queued, options), "s1", log);
  expect(explained).toMatchObject({ status: 529, retryAfterSeconds, message: expect.stringMatching(end) as unknown });
});
