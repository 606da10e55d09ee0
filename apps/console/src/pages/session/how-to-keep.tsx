import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";

/**
 * The next step where an ended session has nothing to show.
 *
 * @param start - what to do for one session, without a final period.
 */
export function HowToKeep({ start }: { readonly start: string }) {
  const { project } = useSignedIn();
  const isAdmin = useIsAdmin();
  if (project === undefined || !isAdmin) return <>{start}, or ask an administrator to keep it for all.</>;
  return (
    <>
      {start}, or{" "}
      <Anchor inherit renderRoot={(props) => <Link to="/projects/$id" params={{ id: project.id }} {...props} />}>
        change what sessions of the project keep
      </Anchor>
      .
    </>
  );
}
