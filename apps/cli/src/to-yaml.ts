import { stringify } from "yaml";

/** A value as YAML; lines are as long as they are. */
export function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0 });
}
