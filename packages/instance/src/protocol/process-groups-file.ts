/** Process groups of an instance outside a box: a line has a process id and its start time in clock ticks. */
export const processGroupsFile = "process-groups";
