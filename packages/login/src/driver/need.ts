import type { ReadField } from "../reading/forms.ts";
import type { PageReading } from "../reading/read-page.ts";
import type { ReadWay } from "../reading/ways.ts";
import type { LoginNeed } from "./outcome.ts";
import { idOf } from "./way-id.ts";

/** A button can be both a second factor and another way. Equal ids would press the first one anyway. */
function onlyFirst(ways: readonly ReadWay[]): readonly ReadWay[] {
  return ways.filter(
    (way, index) => ways.findIndex((other) => other.node.ref === way.node.ref || idOf(other) === idOf(way)) === index,
  );
}

/** Everything that the page offers, at once: missing fields, accounts, second factors, providers, and other ways last. */
export function needOf(
  { accounts, codeSource, factors, providers, switches }: PageReading,
  missing: readonly ReadField[],
  further: Partial<Pick<LoginNeed, "external" | "refused">> = {},
): LoginNeed {
  const ways = onlyFirst([...accounts, ...factors, ...providers, ...switches]);
  const isRepetition = ({ kind, name }: ReadField): boolean => kind === "new_password" && /_\d+$/.test(name);
  return {
    kind: "needs",
    fields: missing
      .filter((field) => !isRepetition(field))
      .map(({ kind, label, name }) => ({
        name,
        kind,
        label,
        required: true,
        ...(kind === "otp" && codeSource !== undefined && { source: codeSource }),
      })),
    choices: ways.map((way) => ({
      id: idOf(way),
      type: way.type,
      label: way.label,
      ...(way.provider !== undefined && { provider: way.provider }),
      ...(way.factor !== undefined && { factor: way.factor }),
      ...(way.target !== undefined && { target: way.target }),
    })),
    ...further,
  };
}
