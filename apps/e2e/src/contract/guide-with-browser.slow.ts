import { describe, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { guidePrograms, useGuidePrograms } from "../testing/guide-runs.ts";
import { useService } from "../testing/service.ts";

const missing = missingFor("process");

describe.skipIf(missing !== undefined)(
  `programs of the guide that need a browser${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const guide = useGuidePrograms();
    const test = useService(() => ["--warm", "1"]);
    const onService = guidePrograms.filter(({ trial }) => trial === "service");
    it.each(onService.map((program) => [program.title, program] as const))("%s runs", async (_title, program) => {
      await guide.expectToRun(program, test.service);
    });
  },
);
