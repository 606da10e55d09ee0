import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import { isListedRule } from "./unwritten-rules.ts";

const seed = process.env.SHOAL_FUZZ_SEED ?? "11";
const seconds = process.env.SHOAL_FUZZ_SECONDS ?? "75";
const missing = missingFor("sandbox") ?? missingInPython("schemathesis");

interface Answer {
  readonly operation: string;
  readonly status: number;
  /** Of a 500, and of the refusal of a request that the document allows. */
  readonly text?: string;
  readonly query?: string;
  readonly body?: string;
}

/**
 * Streams, long polls and an archive of the whole disk last longer than a request may. The other key of the project must
 * stay valid.
 */
const left = "(?:follow|events|[sS]tream|downloads\\.wait|downloadDirZip|botIdentity\\.rotate)$";

describe.skipIf(missing !== undefined)(
  `requests by openapi.json${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => ["--placement", "sandbox", "--max-sessions", "1"]);

    it(`get answers of the document, and no 500 (SHOAL_FUZZ_SEED=${seed})`, async () => {
      const { session_id: session } = await test.shoal.browsers.create({ timeout_seconds: 3600 });
      const profile = await test.shoal.profiles.create({ name: "fuzzed" });
      const folder = mkdtempSync(join(tmpdir(), "shoal-fuzz-"));
      try {
        const answersPath = join(folder, "answers");
        const failure = await promisify(execFile)(
          join(dirname(python), "schemathesis"),
          [
            "run",
            `${test.service.baseUrl}/openapi.json`,
            ...["--header", `Authorization: Bearer ${test.service.apiKey}`],
            ...["--checks", "status_code_conformance,content_type_conformance,response_schema_conformance"],
            ...["--phases", "examples,fuzzing", "--mode", "positive", "--max-time", seconds, "--max-examples", "6"],
            ...["--seed", seed, "--no-shrink", "--continue-on-failure", "--suppress-health-check", "all"],
            ...["--request-timeout", "60", "--workers", "2", "--exclude-operation-id-regex", left],
          ],
          {
            cwd: folder,
            maxBuffer: 2 ** 28,
            timeout: 900_000,
            env: {
              ...process.env,
              SCHEMATHESIS_HOOKS: "schemathesis_hooks",
              PYTHONPATH: import.meta.dirname,
              PYTHONDONTWRITEBYTECODE: "1",
              SHOAL_FUZZ_ANSWERS: answersPath,
              SHOAL_FUZZ_KNOWN: JSON.stringify({ browsers: session, profiles: profile.id }),
            },
          },
        ).then(
          () => undefined,
          (error: unknown) => (error as { readonly stdout?: string }).stdout ?? String(error),
        );
        const answers = readFileSync(answersPath, "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Answer);
        const wrong = answers.filter(
          ({ operation, status, text }) => text !== undefined && !(status === 400 && isListedRule(operation, text)),
        );
        for (const { body, operation, query, status, text } of wrong)
          process.stdout.write(`unlisted: ${JSON.stringify({ operation, status, text, query, body })}\n`);
        const broken = wrong.filter(({ status }) => status !== 400);
        expect(broken, test.service.output()).toEqual([]);
        expect(failure).toBeUndefined();
        // A busy machine reaches fewer operations in this time.
        expect(new Set(answers.map(({ operation }) => operation)).size).toBeGreaterThan(80);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  },
);
