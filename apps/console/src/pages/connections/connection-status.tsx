import { Badge } from "@mantine/core";
import type { AuthConnection } from "@shoal/schemas";

export const isLoggingIn = ({ flow_status }: AuthConnection) => flow_status === "IN_PROGRESS";

export function ConnectionStatus({ connection }: { readonly connection: AuthConnection }) {
  const [color, text] = statusOf(connection);
  return (
    <Badge variant="light" color={color} tt="none">
      {text}
    </Badge>
  );
}

function statusOf(connection: AuthConnection): readonly [color: string, text: string] {
  const { flow_step, status } = connection;
  if (isLoggingIn(connection))
    return flow_step === "AWAITING_INPUT" || flow_step === "AWAITING_EXTERNAL_ACTION"
      ? ["yellow", "Needs a person"]
      : ["cyan", "Signing in"];
  return status === "AUTHENTICATED" ? ["green", "Signed in"] : ["orange", "Signed out"];
}
