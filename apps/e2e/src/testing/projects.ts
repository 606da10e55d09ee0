import { Shoal } from "@shoal/client";
import type { TestService } from "./service.ts";

export async function addProject(
  test: TestService,
  name: string,
): Promise<{ readonly id: string; readonly key: string; readonly shoal: Shoal }> {
  const { id } = await test.shoal.projects.create({ name });
  const { key } = await test.shoal.apiKeys.create({ name: `key of ${name}`, project_id: id });
  return { id, key, shoal: new Shoal({ baseUrl: test.service.baseUrl, apiKey: key }) };
}
