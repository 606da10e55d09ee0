import { expect, it } from "vitest";
import { createTokenBuckets } from "./token-buckets.ts";

it("never fills a bucket above the limit of a minute", () => {
  const buckets = createTokenBuckets(() => 60);
  buckets.take("key", 0);
  expect(buckets.look("key", 500)?.remaining).toBe(59);
  expect(buckets.look("key", 3_600_000)).toMatchObject({ remaining: 60, resetMs: 0 });
});
