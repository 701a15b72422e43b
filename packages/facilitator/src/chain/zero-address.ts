/** Nobody's address: stands for "none" in calls and logs. */
export const zeroAddress: `0x${string}` = `0x${'0'.repeat(40)}`
