"""The classic learning-to-rank methods that papers compare with, each as its paper has it. Fit takes qid."""
