// Vitest reporter: prints one closing line for people and CI systems.
export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    let passed = 0
    let failed = unhandledErrors.length
    let skipped = 0
    for (const module of modules) {
      // A file that fails to load has no tests to count; it still counts as one failure.
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
        else skipped++
      }
    }
    const tail = skipped > 0 ? `, ${skipped} skipped` : ''
    process.on('exit', () => process.stdout.write(`\n${passed} passed, ${failed} failed${tail}\n`))
  }
}
