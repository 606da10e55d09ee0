import type { AppAction } from "@shoal/schemas";
import { registeredApps } from "./app.ts";
import { jsonSchemaOf } from "./value-schema.ts";

/** An app and its actions. */
export interface AppDescription {
  readonly name: string;
  readonly actions: readonly AppAction[];
}

/** Describes all apps of this program for a deployer, in the order of their creation. Schemas are JSON Schema draft-07. */
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
