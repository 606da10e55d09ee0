/** File below `session_dir` that names the groups of processes that an instance without a box has started: a line each, its process id and its start in clock ticks. */
export const processGroupsFile = "process-groups";
