import type { TypedSecrets } from "./typed-secrets.ts";

type AnyHandler = (call: unknown) => unknown;

/** Wraps the handlers of operations: no answer and no error contains a secret that was typed in a page. */
export function withoutSecrets<Handlers extends object>(
  handlers: Handlers,
  secrets: Pick<TypedSecrets, "inAnswer" | "inError">,
): Handlers {
  const wrapped = Object.entries(handlers as Readonly<Record<string, AnyHandler>>).map(([name, handler]) => [
    name,
    async (call: unknown) => {
      try {
        return secrets.inAnswer(await handler(call));
      } catch (error) {
        throw secrets.inError(error);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as Handlers;
}
