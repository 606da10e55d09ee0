import { Card } from "@mantine/core";
import { Lock } from "lucide-react";
import { Empty } from "../states.tsx";

interface RoleOnlyProps {
  /** The role that opens it. */
  readonly role: "operator" | "admin";
  /** `The audit log`. */
  readonly what: string;
}

/** In place of content that the role of the person does not open. */
export function RoleOnly({ role, what }: RoleOnlyProps) {
  return (
    <Card withBorder>
      <Empty icon={Lock} title={`You need the role ${role}`}>
        {what} can contain secrets or actions of other people. Ask an administrator of the service for the role.
      </Empty>
    </Card>
  );
}
