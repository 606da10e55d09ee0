import type * as schemas from "@shoal/schemas";
import type { Schema } from "@shoal/schemas";

type Schemas = typeof schemas;

/** Examples of requests and responses, by schema name. */
export type Examples = {
  readonly [Name in keyof Schemas]?: Schemas[Name] extends Schema<unknown, infer Input>
    ? readonly [Input, ...Input[]]
    : never;
};

export const times = {
  created: "2026-03-01T09:30:00.000Z",
  updated: "2026-03-01T09:31:05.250Z",
  later: "2026-03-02T09:30:00.000Z",
} as const;

export const ids = {
  session: "tz4a98xxat96iws9zmbrgj3a",
  profile: "pfh0haxfpzowht3oi213cqos",
  project: "v2xkk2o4bf5ylj1mvtr3d6yl",
  pool: "iv25ujqf37x3j07dwoffegqr",
  proxy: "nc6bzmylyehv4q6sd0ey6ivg",
  handoff: "q8c1m5wz0h7rt3xk2vbn6yda",
  extension: "a5ucjs8zrxn1p2oq4dwk7v3m",
} as const;
