import { Card } from "@mantine/core";
import { Lock } from "lucide-react";
import { Empty } from "../states.tsx";

/** In place of a page that a role cannot open. @param what - `The audit log`. */
export function AdminOnly({ what }: { readonly what: string }) {
  return (
    <Card withBorder>
      <Empty icon={Lock} title="You need the role admin">
        {what} contains secrets or actions of other people. Ask an administrator of the service for the role.
      </Empty>
    </Card>
  );
}
