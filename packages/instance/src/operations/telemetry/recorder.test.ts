import { expect, it } from "vitest";
import { TypedSecrets } from "../../secrets/typed-secrets.ts";
import { TelemetryRecorder } from "./recorder.ts";

const picture = {
  type: "page_picture",
  category: "page",
  source: { kind: "cdp" },
  data: { url: "https://example.com/?token=opensesame", size_bytes: 3 },
} as const;

async function first(recorder: TelemetryRecorder): Promise<unknown> {
  recorder.close();
  const { value } = await recorder.read(0, (_seq, event) => JSON.parse(event) as { data: object }).next();
  return value !== undefined && "data" in value ? value.data.data : undefined;
}

it("adds the file of a picture to its masked event", async () => {
  const recorder = new TelemetryRecorder();
  recorder.select(new Set(["page"]));
  recorder.recordPicture(picture, "/9j/");
  expect(await first(recorder)).toEqual({ url: "https://example.com/?token=***", size_bytes: 3, jpeg: "/9j/" });
});

it.each([
  ["everywhere", true],
  ["telemetry", false],
] as const)("records no picture after a value was typed that is hidden %s: %s", async (hiddenIn, hides) => {
  const secrets = new TypedSecrets();
  const recorder = new TelemetryRecorder(() => false, secrets);
  recorder.select(new Set(["page"]));
  // Too short to be replaced in texts.
  secrets.add("4711", hiddenIn);
  recorder.recordPicture(picture, "/9j/");
  expect(recorder.lastSeq).toBe(hides ? 0 : 1);
});

it.each([
  ["pages may show secrets", true, "page"],
  ["pages are not captured", false, "network"],
] as const)("records no picture while %s", async (_case, hides, category) => {
  const recorder = new TelemetryRecorder(() => hides);
  recorder.select(new Set([category]));
  recorder.recordPicture(picture, "/9j/");
  expect(recorder.lastSeq).toBe(0);
  expect(await first(recorder)).toBeUndefined();
});
