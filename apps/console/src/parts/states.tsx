import { Alert, Button, Center, Loader, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { ApiError } from "@shoal/client";
import { CircleAlert, type LucideIcon } from "lucide-react";
import { createContext, type ReactNode, useContext } from "react";
import { shownError } from "../base/shown-error.ts";
import { isUnreachable } from "../base/unreachable.ts";

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
}

/** An empty list or a state without content. */
export function Empty({ icon: Icon, title, children }: EmptyProps) {
  return (
    <Center py={48} px="md">
      <Stack align="center" gap="sm" maw={460}>
        <ThemeIcon size={52} radius="xl" variant="light" color="gray">
          <Icon size={26} aria-hidden />
        </ThemeIcon>
        <Title order={2} size="h4" ta="center">
          {title}
        </Title>
        <Text component="div" c="dimmed" ta="center" size="sm">
          {children}
        </Text>
      </Stack>
    </Center>
  );
}

/** True while the page shows, in one place, that the service is down. */
export const IsDown = createContext(false);

/** A failure with the text of the service, which names the next step. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const isDown = useContext(IsDown);
  if (isDown && isUnreachable(error)) return null;
  const isMissing = ApiError.isInstance(error) && error.status === 404;
  return (
    <Alert
      color="red"
      icon={<CircleAlert aria-hidden />}
      title={isMissing ? "Not found" : "Request failed"}
      role="alert"
      my="md"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{shownError(error)}</Text>
        {ApiError.isInstance(error) && error.requestId !== undefined && (
          <Text size="xs" c="dimmed">
            Request {error.requestId}
          </Text>
        )}
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

export function Loading({ label = "Loading" }: { readonly label?: string }) {
  return (
    <Center py={64}>
      <Loader role="img" aria-label={label} type="dots" />
    </Center>
  );
}
