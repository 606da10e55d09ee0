import type { AppAction } from "@shoal/schemas";
import { registeredApps } from "./app.ts";
import { jsonSchemaOf } from "./value-schema.ts";

/** An app and what it can be asked to do. */
export interface AppDescription {
  readonly name: string;
  readonly actions: readonly AppAction[];
}

/**
 * What this program can be asked to do: what a deployer keeps of it.
 *
 * @returns the apps that were made until now, in their order; schemas as JSON Schema draft-07, `null` where there is none.
 */
export async function describeApps(): Promise<{ readonly apps: readonly AppDescription[] }> {
  const apps = await Promise.all(
    [...registeredApps().values()].map(async ({ actions, name }) => ({
      name,
      actions: await Promise.all(
        [...actions].map(async ([action, { output, payload }]) => ({
          name: action,
          input_schema: await jsonSchemaOf(payload, "input"),
          output_schema: await jsonSchemaOf(output, "output"),
        })),
      ),
    })),
  );
  return { apps };
}
