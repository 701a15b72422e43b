#!/usr/bin/env node
// Not built but there from the first install on, so that npm links the command of this tree and never looks elsewhere.
import '../bundle/main.js'
