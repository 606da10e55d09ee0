import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { type FuzzedRequest, operationsToFuzz, requestsTo } from "../testing/request-fuzz.ts";
import { useService } from "../testing/service.ts";

/**
 * To run it alone: `SHOAL_FUZZ_SEED=7 SHOAL_FUZZ_REQUESTS=200 pnpm exec vitest run --config vitest.slow.config.ts
 * fuzz`.
 */
const seed = Number(process.env.SHOAL_FUZZ_SEED ?? "20261122");
/** Requests per operation. */
const requests = Number(process.env.SHOAL_FUZZ_REQUESTS ?? "5");
const answerTimeoutMs = 4000;

function addressOf({ operation, params, query }: FuzzedRequest): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(params[name]).toWellFormed()),
  );
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [
      name,
      (typeof value === "string" ? value : JSON.stringify(value)).toWellFormed(),
    ]),
  );
  return `${path}?${search.toString()}`;
}

// A fuzzed command really runs: only a sandbox protects this machine.
describe.each(placements.filter(({ placement }) => placement === "sandbox"))(
  "fuzzed requests, in the placement $title",
  ({ placement, skip }) => {
    describe.skipIf(skip)("to a service", () => {
      const test = useService(() => ["--placement", placement, "--max-sessions", "3"]);

      const statuses = new Map<number, number>();

      /** @returns the answer's problem, if any. Every answer of `fetch` is also compared with openapi.json. */
      async function send(request: FuzzedRequest): Promise<string | undefined> {
        const { body, operation } = request;
        const answer = await fetch(test.service.baseUrl + addressOf(request), {
          method: operation.method,
          headers: {
            authorization: `Bearer ${test.service.apiKey}`,
            ...(body !== undefined && { "content-type": "application/json" }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(answerTimeoutMs),
        }).catch((error: unknown) => {
          if (error instanceof DOMException && error.name === "TimeoutError") return undefined;
          throw error;
        });
        if (answer === undefined) return undefined;
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const text = answer.status === 500 ? await answer.text() : "";
        await answer.body?.cancel().catch(() => undefined);
        return answer.status === 500
          ? `${operation.method} ${addressOf(request)} ${JSON.stringify(body ?? null).slice(0, 500)} answered 500: ${text}`
          : undefined;
      }

      it("never fail with 500, and get answers that openapi.json describes", async () => {
        const { session_id: session } = await test.shoal.browsers.create({ name: "fuzz", timeout_seconds: 600 });
        const profile = await test.shoal.profiles.create({ name: "fuzz-1" });
        const known = ["fuzz", session, "fuzz-1", profile.id];
        const problems: string[] = [];
        for (const operation of operationsToFuzz()) {
          // Not with `fc.assert`: one problem must not hide the next.
          for (const request of fc.sample(requestsTo(operation, known), { seed, numRuns: requests })) {
            const problem = await send(request);
            if (problem !== undefined) problems.push(problem);
          }
        }
        expect(problems, problems.length === 0 ? "" : test.service.output()).toEqual([]);
        // The requests must pass and fail the checks.
        const statusesThatMustOccur = [200, 201, 400, 404];
        expect(statusesThatMustOccur.filter((status) => (statuses.get(status) ?? 0) < requests)).toEqual([]);
        expect((await fetch(`${test.service.baseUrl}/health`)).status).toBe(200);
      });
    });
  },
);
