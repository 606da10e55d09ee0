import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { expect, it } from "vitest";
import { schemaDigest } from "./schema-digest.ts";

const running = (statement: string): Record<string, Migration> => ({
  "0001_a": {
    async up(query) {
      await sql.raw(statement).execute(query);
    },
  },
});

it("is the same each time, and differs when a statement differs", async () => {
  expect(await schemaDigest()).toBe(await schemaDigest());
  expect(await schemaDigest()).toMatch(/^[0-9a-f]{16}$/);
  const [one, other] = [running("create table a (b int)"), running("create table a (b text)")];
  expect(await schemaDigest(one)).toBe(await schemaDigest(running("create table a (b int)")));
  expect(await schemaDigest(one)).not.toBe(await schemaDigest(other));
});
