import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";

/** Opens the page of a session. */
export function SessionLink({ id, name }: { readonly id: string; readonly name?: string | undefined }) {
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to="/sessions/$id" params={{ id }} {...props} />}>
      {name ?? id}
    </Anchor>
  );
}
