import { createKeySecret } from "@shoal/server";
import { expect, it } from "vitest";
import { ScriptedApps } from "../scripts/scripted-apps.ts";
import { ScriptedSites } from "../scripts/scripted-sites.ts";
import { ScriptedStores } from "../scripts/scripted-stores.ts";
import { FakeService } from "./fake-service.ts";

it("does not wait for the disk, which other programs may use", async () => {
  const scripts = { apps: new ScriptedApps(), sites: new ScriptedSites(), stores: new ScriptedStores() };
  const service = await FakeService.start(scripts, createKeySecret());
  try {
    const setting = await service.database.query
      .selectNoFrom((build) =>
        (["fsync", "full_page_writes", "synchronous_commit"] as const).map((name) =>
          build.fn<string>("current_setting", [build.val(name)]).as(name),
        ),
      )
      .executeTakeFirstOrThrow();
    expect(setting).toEqual({ fsync: "off", full_page_writes: "off", synchronous_commit: "off" });
  } finally {
    await service.close();
  }
});
