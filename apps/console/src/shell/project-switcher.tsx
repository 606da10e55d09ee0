import { Button, Menu, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown } from "lucide-react";
import { useSignedIn } from "../api/shoal.ts";

/** Shows the project, and changes it if the person can open several. */
export function ProjectSwitcher() {
  const { session, project } = useSignedIn();
  const navigate = useNavigate();
  if (project === undefined) return null;
  if (session.projects.length === 1)
    return (
      <Text size="sm" c="dimmed" truncate maw={200}>
        {project.name}
      </Text>
    );
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          rightSection={<ChevronsUpDown size={14} aria-hidden />}
          aria-label={`Project ${project.name}. Change the project`}
          maw={220}
        >
          {project.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={400} style={{ overflowY: "auto" }}>
        <Menu.Label>Projects</Menu.Label>
        {session.projects.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => void navigate({ to: "/", search: { project: id } })}
            rightSection={id === project.id ? <Check size={14} aria-label="Current" /> : undefined}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
