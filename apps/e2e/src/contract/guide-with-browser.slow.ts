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
    const test = useService(() => ["--warm", "1", "--dialects", "browserbase,browserless,cloudflare,steel,webdriver"]);
    const onService = guidePrograms.filter(({ trial }) => trial === "service");
    describe.each(Object.entries(Object.groupBy(onService, pageOf)))("%s", (_page, programs = []) => {
      afterAll(() => guide.expectToEnd());
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
