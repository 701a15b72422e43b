#!/usr/bin/env node
// Committed, not built: it exists from the first install on, so npm links this command and never fetches another.
import '../dist/main.js'
