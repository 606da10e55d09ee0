import { afterAll, describe, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { guidePrograms, pageOf, useGuidePrograms } from "../testing/guide-runs.ts";
import { useService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";

const missing = missingFor("process");

describe.skipIf(missing !== undefined)(
  `programs of the guide that need a browser${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const guide = useGuidePrograms();
    const dialects = "browserbase,browserless,cloudflare,steel,webdriver";
    // For sites that programs serve.
    const test = useService(() => ["--warm", "1", "--allow-private-hosts", "127.0.0.1", "--dialects", dialects]);
    afterAll(() => guide.expectToEnd());
    // Those in Python run in `python-guide.slow.ts`.
    const onService = guidePrograms.filter(({ language, trial }) => trial === "service" && language !== "python");
    describe.each(Object.entries(Object.groupBy(onService, pageOf)))("%s", (_page, programs = []) => {
      it.for(programs.map((program) => [program.title, program] as const))(
        "%s runs",
        async ([title, program], { skip }) => {
          const readsLog = title === "docs/guide/audit-log.md: Search the log";
          skip(readsLog && serverCount > 1, "another server writes the entry a fifth of a second after its answer");
          await guide.expectToRun(program, test.service);
        },
      );
    });
  },
);
